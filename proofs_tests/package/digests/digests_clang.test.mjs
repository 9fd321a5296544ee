// digests_clang.test.mjs: the digests of the library built by clang, two minutes of compiling: make
// test-package.
import { digestsOf } from './digests_native.mjs';

digestsOf('clang', 'build/clang-exact/seqmix', 'build/obj/clang-exact');
