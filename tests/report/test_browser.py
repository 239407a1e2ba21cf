"""The page in headless Chromium: accessible, never wider than a phone, drawn, and silent.

Test copies of the pages get a script, so their content policy is taken out; one test leaves it in
and sees that it forbids the script.
"""

from __future__ import annotations

import html
import importlib.resources
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import examples
import matplotlib.image
import numpy as np
import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
if CHROMIUM is None:
    pytest.skip("no chromium, chromium-browser or google-chrome on PATH", allow_module_level=True)

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--virtual-time-budget=60000",
)
EXAMPLES: dict[str, Callable[[], dict[str, Any]]] = {
    "nodes": examples.node_score,
    "links": examples.link_score,
    "several": examples.several_scores,
    "empty": examples.empty_score,
    "hostile": examples.hostile_score,
    "shift": examples.shift_description,
    "bare shift": examples.bare_description,
}
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
DARK = "--blink-settings=preferredColorScheme=0"

# What a page tells of itself, to the frame around it or into its own document.
PROBE = """
<script>%(axe)s</script>
<script>
addEventListener("load", async () => {
  if (%(opened)s) for (const d of document.querySelectorAll("details")) d.open = true;
  const root = document.documentElement;
  const excused = ".scroll, svg, .unseen, .skip";
  const wide = [...document.body.querySelectorAll("*")].filter(
    e => e.getBoundingClientRect().right > innerWidth + 0.5 && !e.closest(excused));
  const told = {
    name: "%(name)s", width: innerWidth, scroll: root.scrollWidth,
    wide: wide.slice(0, 5).map(e => e.outerHTML.slice(0, 150)),
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    ground: getComputedStyle(document.body).backgroundColor,
    loaded: performance.getEntriesByType("resource").map(e => e.name),
    violations: null,
  };
  if (window.axe) {
    const found = await axe.run(document, {iframes: false});
    const fault = n => n.html + " " + n.failureSummary;
    const brief = r => ({id: r.id, nodes: r.nodes.slice(0, 5).map(fault)});
    told.rules = found.passes.length;
    told.violations = found.violations.map(brief);
  }
  if (parent !== window) parent.postMessage(told, "*");
  else {
    const out = document.createElement("script");
    out.type = "application/json"; out.id = "told"; out.textContent = JSON.stringify([told]);
    document.body.append(out);
  }
});
</script>
"""
# A frame has any width; a window of headless Chromium is at least 500 pixels wide.
FRAMES = """<!doctype html><html lang="en"><title>Frames</title><body>
<script>
const all = [];
addEventListener("message", e => {
  all.push(e.data);
  if (all.length < %d) return;
  const out = document.createElement("script");
  out.type = "application/json"; out.id = "told"; out.textContent = JSON.stringify(all);
  document.body.append(out);
});
</script>%s</body></html>"""


@pytest.fixture(scope="module")
def browse(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    profile = tmp_path_factory.mktemp("profile")

    def run(page: Path, *flags: str) -> str:
        done = subprocess.run(
            [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", *flags, page.as_uri()],
            capture_output=True, check=True, timeout=120, encoding="utf-8",
        )  # fmt: skip
        return done.stdout

    return run


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    found = {name: make() for name, make in EXAMPLES.items()}
    found["several"]["scores"] = found["several"]["scores"][1:]  # two show all that three do
    return {name: examples.page(document) for name, document in found.items()}


def axe() -> str:
    script = importlib.resources.files("axe_core_python") / "axe.min.js"
    return script.read_text(encoding="utf-8").replace("</script", "<\\/script")


def probed(page: str, name: str, *, script: str = "", opened: bool = True) -> str:
    probe = PROBE % {"axe": script, "name": name, "opened": "true" if opened else "false"}
    assert len(POLICY.findall(page)) == 1
    return POLICY.sub("", page).replace("</body>", probe + "</body>")


def told(dumped: str) -> list[dict[str, Any]]:
    start = '<script type="application/json" id="told">'
    found = re.search(f"{start}(.*?)</script>", dumped, re.DOTALL)
    assert found is not None, "the page did not answer"
    answers: list[dict[str, Any]] = json.loads(found[1])
    return answers


def framed(folder: Path, copies: dict[str, str], widths: tuple[int, ...]) -> Path:
    """Put every copy into a frame of every width.

    The copies lie in the page itself, so that all frames share the page's process and its virtual
    time does not run out while one of them still loads.
    """
    frame = (
        '<iframe title="{0} {1}" srcdoc="{2}" style="width:{1}px;height:900px;border:0"></iframe>'
    )
    frames = "".join(
        frame.format(name, width, html.escape(copy))
        for name, copy in copies.items()
        for width in widths
    )
    outside = folder / "frames.html"
    outside.write_text(FRAMES % (len(copies) * len(widths), frames), encoding="utf-8")
    return outside


@pytest.mark.parametrize(
    ("width", "dark"), [(375, False), (1200, True)], ids=["phone, light", "desktop, dark"]
)
def test_axe_finds_nothing(
    browse: Callable[..., str], pages: dict[str, str], tmp_path: Path, width: int, dark: bool
) -> None:
    script = axe()
    copies = {name: probed(page, name, script=script) for name, page in pages.items()}
    outside = framed(tmp_path, copies, (width,))
    answers = told(browse(outside, "--dump-dom", *([DARK] if dark else [])))
    assert {(a["name"], a["width"]) for a in answers} == {(name, width) for name in pages}
    for answer in answers:
        assert answer["dark"] is dark
        assert answer["rules"] > 15
        assert answer["violations"] == [], answer["name"]
    assert {a["ground"] for a in answers} == {"rgb(20, 21, 24)" if dark else "rgb(252, 251, 249)"}


def test_axe_finds_nothing_in_a_window_of_its_own(
    browse: Callable[..., str], pages: dict[str, str], tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    page.write_text(probed(pages["nodes"], "nodes", script=axe(), opened=False), encoding="utf-8")
    (answer,) = told(browse(page, "--dump-dom", "--window-size=1200,900"))
    assert answer["width"] == 1200
    assert answer["violations"] == []


def test_axe_would_find_something(browse: Callable[..., str], tmp_path: Path) -> None:
    policy = '<meta http-equiv="Content-Security-Policy" content="">'
    poor = f'<!doctype html><html>{policy}<body><img src="data:,"></body></html>'
    page = tmp_path / "poor.html"
    page.write_text(probed(poor, "poor", script=axe()), encoding="utf-8")
    (answer,) = told(browse(page, "--dump-dom"))
    assert {"image-alt", "html-has-lang"} <= {v["id"] for v in answer["violations"]}


def test_page_is_never_wider_than_its_window(
    browse: Callable[..., str], pages: dict[str, str], tmp_path: Path
) -> None:
    widths = (320, 375, 600, 800, 1030, 1400)
    copies = {name: probed(page, name) for name, page in pages.items()}
    answers = told(browse(framed(tmp_path, copies, widths), "--dump-dom"))
    assert {a["width"] for a in answers} == set(widths)
    assert len(answers) == len(widths) * len(pages)
    for answer in answers:
        assert answer["scroll"] <= answer["width"], answer
        assert answer["wide"] == [], answer


def test_nothing_is_fetched(
    browse: Callable[..., str], pages: dict[str, str], tmp_path: Path
) -> None:
    copies = {name: probed(page, name) for name, page in pages.items()}
    answers = told(browse(framed(tmp_path, copies, (800,)), "--dump-dom"))
    assert [a["loaded"] for a in answers] == [[]] * len(pages)


def test_policy_stops_a_script(
    browse: Callable[..., str], pages: dict[str, str], tmp_path: Path
) -> None:
    script = "<script>document.title = 'it ran'</script></body>"
    titles = []
    for copy in (pages["empty"], POLICY.sub("", pages["empty"])):
        page = tmp_path / "page.html"
        page.write_text(copy.replace("</body>", script), encoding="utf-8")
        found = re.search(r"<title>(.*?)</title>", browse(page, "--dump-dom"))
        assert found is not None
        titles.append(found[1])
    assert titles[0] != "it ran"
    assert titles[1] == "it ran"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_screenshot_shows_a_page(
    browse: Callable[..., str], pages: dict[str, str], tmp_path: Path, dark: bool
) -> None:
    page, shot = tmp_path / "page.html", tmp_path / "shot.png"
    page.write_text(pages["nodes"], encoding="utf-8")
    browse(page, f"--screenshot={shot}", "--window-size=1200,2400", *([DARK] if dark else []))
    pixels = np.rint(255 * matplotlib.image.imread(shot)[:, :, :3]).astype(int)
    assert pixels.shape == (2400, 1200, 3)
    ground = np.array([20, 21, 24] if dark else [252, 251, 249])
    drawn = (np.abs(pixels - ground) > 8).any(axis=2)
    assert 0.02 < drawn.mean() < 0.6
    # Every stretch of the page holds something, up to the air between its sections.
    assert drawn.any(axis=1).reshape(-1, 200).any(axis=1).all()
    colours = np.unique(pixels @ [1 << 16, 1 << 8, 1])
    assert len(colours) > 50


def test_page_prints_on_light_ground_with_details_opened(
    browse: Callable[..., str], pages: dict[str, str], tmp_path: Path
) -> None:
    page, sheet = tmp_path / "page.html", tmp_path / "page.pdf"
    page.write_text(pages["nodes"], encoding="utf-8")
    browse(page, f"--print-to-pdf={sheet}", "--no-pdf-header-footer", DARK)
    assert sheet.read_bytes().startswith(b"%PDF")
    reader = shutil.which("pdftotext")
    if reader is None:
        pytest.skip("no pdftotext on PATH: the printed text is not read")
    printed = subprocess.run(
        [reader, str(sheet), "-"], capture_output=True, check=True, encoding="utf-8"
    ).stdout
    assert "0.826" in printed  # accuracy on valid, folded away on the screen
    assert "How the verdict is made" in printed
