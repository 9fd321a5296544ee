"""describe.py: the package's page: README.md of docs/PYTHON.md, and the addresses in pyproject.toml. Links lead
to the repository, at this version; where its address is not given, a link is the document's name.

    python3 describe.py REPOSITORY VERSION FOLDER      REPOSITORY: an address, or empty
"""
from __future__ import annotations

import re
import sys
from pathlib import Path


def readme(text: str, files: str) -> str:
    def link(found: re.Match[str]) -> str:
        return f"[{found[1]}]({files}/docs/{found[2]})" if files else f"docs/{found[2]}"

    return re.sub(r"\[([^]\n]*)\]\((?!\w+:)([^)\s]+)\)", link, text)


def urls(repository: str, files: str) -> str:
    pages = {
        "Repository": repository,
        "Documentation": f"{files}/docs/PYTHON.md",
        "Changelog": f"{files}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
    return "\n[project.urls]\n" + "".join(f'{name} = "{page}"\n' for name, page in pages.items())


def main(repository: str, version: str, folder: Path) -> None:
    repository = repository.rstrip("/")
    files = repository and f"{repository}/blob/v{version}"
    (folder / "README.md").write_text(readme(Path("docs/PYTHON.md").read_text(), files))
    project = Path("python/pyproject.toml").read_text()
    (folder / "pyproject.toml").write_text(project + (urls(repository, files) if repository else ""))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
