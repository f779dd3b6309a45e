import { setFlagsFromString } from 'node:v8';

// Node 20 knows relaxed SIMD but hides it; later versions have it and ignore this.
setFlagsFromString('--experimental-wasm-relaxed-simd');
