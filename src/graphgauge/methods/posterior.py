"""Posterior networks: what PN, NatPN, GPN and NatGPN of both papers share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Generator

from graphgauge.methods.network import (
    Encoder,
    NaturalHead,
    Network,
    PosteriorHead,
    Propagation,
)
from graphgauge.methods.trained import Dirichlet, Size
from graphgauge.methods.training import Phase

__all__ = ["Posterior"]


@dataclass(frozen=True, kw_only=True)
class Posterior(Dirichlet):
    """Evidence from densities; flows are warmed up before all is trained, and tuned after it.

    Parameters
    ----------
    warmup, finetune
        Epochs of the phases that train flows alone.
    flow_rate
        Rate of those phases; they have no decay.
    latent
        Coordinates of a latent point.
    flow_layers
        Layers of a flow.
    """

    warmup: int = 200
    finetune: int = 200
    flow_rate: float = 1e-3
    latent: int = 16
    flow_layers: int = 8

    stirred: ClassVar[bool] = False

    def phases(self) -> Sequence[Phase]:
        """Flows, all, flows."""
        kind: dict[str, Any] = {"flows_only": True, "stirred": self.stirred and self.published}
        before, after = (Phase(n, self.flow_rate, **kind) for n in (self.warmup, self.finetune))
        return [before, self.main(), after]

    def standard(
        self,
        encoder: Encoder,
        size: Size,
        generator: Generator,
        spread: Propagation | None = None,
    ) -> Network:
        """Put a flow for every class behind an encoder."""
        head = PosteriorHead(
            encoder.width,
            size.prior,
            generator,
            latent=self.latent,
            n_layers=self.flow_layers,
            spread=spread,
        )
        return Network(encoder, head)

    def natural(
        self,
        encoder: Encoder,
        size: Size,
        generator: Generator,
        spread: Propagation | None = None,
    ) -> Network:
        """Put one flow behind an encoder."""
        head = NaturalHead(
            encoder.width,
            size.n_classes,
            generator,
            latent=self.latent,
            n_layers=self.flow_layers,
            on_latent=not self.published,
            spread=spread,
        )
        return Network(encoder, head)
