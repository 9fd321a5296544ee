// imports.js: tells emcc that whoever loads verify.wasm brings verify_say.
mergeInto(LibraryManager.library, { verify_say: function () {} });
