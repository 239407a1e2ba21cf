"""From a benchmark to the runs it consists of, ensembles with the runs they are made of.

What is calibrated follows from one run as an ensemble does from several.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from graphgauge.benchmark import Benchmark, Calibrated, Derived, Trained, known_keys
from graphgauge.catalogue import calibrator_version, check_hyper, make_calibrator, method_version
from graphgauge.errors import InputError
from graphgauge.measures import MEASURES
from graphgauge.methods.ensembles import COMBINATIONS
from graphgauge.records import RunSpec

__all__ = ["Choice", "resolve", "runs_of"]

# Of all ensembles: raised when combining changes its numbers.
_COMBINED = "1"


@dataclass(frozen=True)
class Choice:
    """What of a benchmark to run; nothing chosen means all of it.

    Parameters
    ----------
    datasets, methods
        Slugs; a method may be named as a table does (``se`` for ``erm``).
    settings
        In full, or a shift alone for all its ratios (``popularity``).
    seeds
        Of what is trained.
    protocol
        ``corrected`` or ``published``.
    """

    datasets: Sequence[str] = ()
    settings: Sequence[str] = ()
    methods: Sequence[str] = ()
    seeds: Sequence[int] = ()
    protocol: str = "corrected"


def runs_of(benchmark: Benchmark, choice: Choice | None = None) -> list[RunSpec]:
    """List the chosen runs, in the order of the benchmark, members before their ensembles.

    An ensemble that is asked for by name brings its members along, whatever seeds are chosen;
    one that is not stands back where the chosen seeds do not make it whole. What is calibrated
    brings what it is made of.
    """
    choice = choice or Choice()
    datasets = _chosen("data set", choice.datasets, benchmark.datasets)
    settings = _settings(choice.settings, benchmark.settings)
    asked = [benchmark.rows.get(name, name) for name in choice.methods]
    methods = _chosen("method", asked, benchmark.methods)
    seeds = _seeds(choice.seeds, benchmark.seeds)
    resolve(benchmark, methods)
    found: dict[str, RunSpec] = {}
    for dataset in datasets:
        for setting in settings:
            place = _Place(benchmark, dataset, setting, choice.protocol)
            for spec in place.runs(methods, seeds, asked):
                found.setdefault(spec.id, spec)
    return list(found.values())


def resolve(benchmark: Benchmark, methods: Collection[str] = ()) -> None:
    """Check, without training, that methods and hyper-parameters exist: of all methods, or some."""
    known_keys("benchmark: measures", benchmark.measures, MEASURES)
    for slug in methods or benchmark.methods:
        method = benchmark.methods[slug]
        if isinstance(method, Derived):
            known_keys(f"methods.{slug}: combine", [method.combine], COMBINATIONS)
            method = benchmark.methods[method.of]
        if isinstance(method, Calibrated):
            for label in method.calibrate.values():
                make_calibrator(label)
            method = benchmark.methods[method.of]
        if isinstance(method, Trained):
            for setting in method.settings:
                check_hyper(method.use, {**method.hyper, **benchmark.hyper.get(setting, {})})


@dataclass(frozen=True)
class _Place:
    """A data set, split one way, under a protocol."""

    benchmark: Benchmark
    dataset: str
    setting: str
    protocol: str

    def runs(
        self, methods: Sequence[str], seeds: Sequence[int], asked: Collection[str]
    ) -> Iterator[RunSpec]:
        for slug in methods:
            method = self.benchmark.methods[slug]
            if self.dataset not in method.datasets or self.setting not in method.settings:
                continue
            if isinstance(method, Trained):
                yield from (self.trained(slug, method, seed) for seed in seeds)
                continue
            if isinstance(method, Calibrated):
                for seed in seeds:
                    yield from self.calibrated(slug, method, seed)
                continue
            needed = self.benchmark.seeds[: method.n]
            if slug in asked or set(needed) <= set(seeds):
                yield from self.ensemble(slug, method, needed)

    def trained(self, slug: str, method: Trained, seed: int) -> RunSpec:
        version = method_version(method.use)
        hyper = {**method.hyper, **self.benchmark.hyper.get(self.setting, {})}
        return self._spec(slug, seed, hyper, version, use=method.use)

    def calibrated(self, slug: str, method: Calibrated, seed: int) -> Iterator[RunSpec]:
        base = self.trained(method.of, self.base(slug, method.of), seed)
        yield base
        label = method.calibrate[self.protocol]
        version = f"{base.version}.{calibrator_version(label)}"
        yield self._spec(slug, seed, base.hyper, version, use=label, members=(base.id,))

    def base(self, slug: str, of: str) -> Trained:
        base = self.benchmark.methods[of]
        if not isinstance(base, Trained):
            raise InputError(f"methods.{slug}: of {of!r}, which is no trained method")
        return base

    def ensemble(self, slug: str, method: Derived, seeds: Sequence[int]) -> Iterator[RunSpec]:
        base = self.base(slug, method.of)
        members = [self.trained(method.of, base, seed) for seed in seeds]
        yield from members
        ids = tuple(member.id for member in members)
        yield self._spec(slug, 0, {}, _COMBINED, use=method.combine, members=ids)

    def _spec(
        self,
        slug: str,
        seed: int,
        hyper: object,
        version: str,
        *,
        use: str,
        members: tuple[str, ...] = (),
    ) -> RunSpec:
        return RunSpec(
            self.benchmark.name,
            self.dataset,
            self.setting,
            slug,
            seed,
            self.protocol,
            hyper,  # type: ignore[arg-type]  # checked by RunSpec itself
            version,
            members,
            use,
            tuple(self.benchmark.datasets[self.dataset]),
            self.benchmark.splits.get((self.dataset, self.setting), ""),
            self.benchmark.measures,
        )


def _chosen(what: str, wanted: Sequence[str], known: Collection[str]) -> list[str]:
    known_keys(what, wanted, known)
    return [name for name in known if not wanted or name in wanted]


def _settings(wanted: Sequence[str], known: Sequence[str]) -> list[str]:
    """Choose settings by their names, or by what stands before the ratio."""
    shifts = dict.fromkeys(setting.partition("-")[0] for setting in known)
    known_keys("setting", wanted, [*shifts, *known])
    return [s for s in known if not wanted or s in wanted or s.partition("-")[0] in wanted]


def _seeds(wanted: Sequence[int], known: Sequence[int]) -> list[int]:
    strange = sorted(set(wanted) - set(known))
    if strange:
        raise InputError(f"seed {strange[0]} is not among the benchmark's ({known[0]}-{known[-1]})")
    return [seed for seed in known if not wanted or seed in wanted]
