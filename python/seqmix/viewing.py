"""The page: one file that trains in a browser what a run trains here, to the same bit."""
from __future__ import annotations

import html
import json
import sys
import tempfile
import webbrowser
from pathlib import Path
from typing import Any, Mapping, Sequence

from ._errors import SeqmixError
from ._config import config_text, config_values
from ._files import write_whole
from .run import Run

PAGE = Path(__file__).parent / "page" / "seqmix.html"


def view(what: Run | str | Mapping[str, Any] | Sequence[Run], path: Any = None, show: bool = True) -> Any:
    """Write the page, one .html file that needs nothing else, set up with a run's config (or that of several,
    up to six, side by side), and open it: in a notebook below the cell, else in a browser.

    path: where it goes; without it a temporary folder. show: False: write it only. Returns the path; in a
        notebook, a frame.
    """
    runs = list(what) if isinstance(what, (list, tuple)) else [what]
    configs = "~".join(run.config if isinstance(run, Run) else config_text(run) for run in runs)
    config_values(configs)  # or a sentence
    try:
        page = PAGE.read_text("utf-8")
    except OSError:
        raise SeqmixError("this package was built without the page (PAGE_IN_WHEEL=)") from None
    address = json.dumps("#" + configs).replace("<", "\\u003c")
    start = f"<script>if (location.hash.length < 2) location.replace({address});</script>"
    head, tag, rest = page.partition("<script")
    target = Path(path) if path is not None else Path(tempfile.mkdtemp(prefix="seqmix-")) / "seqmix.html"
    write_whole(target, f"{head}{start}{tag}{rest}".encode())
    if not show:
        return target
    if "ipykernel" in sys.modules:
        from IPython.display import HTML

        # In a srcdoc a relative address is the notebook's: the frame goes to a blob, which has its own.
        source = json.dumps(target.read_text("utf-8")).replace("<", "\\u003c")
        go = f"<script>location.replace(URL.createObjectURL(new Blob([{source}], {{type: 'text/html'}})))</script>"
        frame = html.escape(go)
        return HTML(
            f'<iframe title="seqmix" srcdoc="{frame}" width="100%" height="800" style="border:0"></iframe>'
        )
    webbrowser.open(target.resolve().as_uri())
    return target
