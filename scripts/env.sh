# shellcheck shell=sh
# What a shell needs beside setup.sh to run the build's tools by hand: `. scripts/env.sh` in the project's
# folder. Puts the Node.js that setup.sh may have fetched, and the tools of node_modules, first on PATH. Sets
# nothing else:
# emcc finds its own Node.js and its own cache.
PATH=$PWD/build/tools/bin:$PWD/node_modules/.bin:$PATH
export PATH
