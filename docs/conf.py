# conf.py: how Sphinx makes the documents a site; scripts/site.mjs prepares them and calls it.
import os

project = "seqmix"
release = os.environ["SEQMIX_VERSION"]
extensions = ["myst_parser"]
root_doc = "index"
exclude_patterns = ["source"]  # files of the repository that documents link to
highlight_language = "none"
myst_heading_anchors = 6
# (An example's "..." is no JavaScript; documents begin with a heading of any level.)
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
html_theme = "furo"
html_theme_options = {"announcement": f"""<a href="{os.environ['SEQMIX_PAGE']}">The page that trains</a>"""}
html_title = f"seqmix {release}"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
