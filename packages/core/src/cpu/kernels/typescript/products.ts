import type { Kernels } from '../interface/kernels.ts';
import { PANEL, PANEL_BYTES } from '../interface/panel.ts';
import type { Memory } from '../memory/memory.ts';

/** Stores a block of products: `factor` times the product or, with `add`, the previous value plus that. */
type Store = (c: Float32Array, at: number, x0: number, x1: number, x2: number, x3: number) => void;

const addTo: Store = (c, at, x0, x1, x2, x3) => {
  c[at] += Math.fround(x0);
  c[at + 1] += Math.fround(x1);
  c[at + 2] += Math.fround(x2);
  c[at + 3] += Math.fround(x3);
};

/**
 * The three products in plain TypeScript. The inner loop keeps a 4 × 4 block of C in locals, which the
 * compiler keeps in registers, so that 8 loads feed 16 multiply-adds. The locals are f64, the language's only
 * scalar arithmetic, and are rounded once at the end. Ranges are not used, because elements outside them are
 * 0 or irrelevant.
 */
export function typescriptProducts(
  memory: Memory,
): Pick<Kernels, 'multiplyScores' | 'addProduct' | 'addTransposedProduct'> {
  return {
    multiplyScores(m, n, depth, a, lda, b, c, ldc, factor) {
      const { f32 } = memory;
      const store: Store = (to, at, x0, x1, x2, x3) => {
        to[at] = factor * x0;
        to[at + 1] = factor * x1;
        to[at + 2] = factor * x2;
        to[at + 3] = factor * x3;
      };
      const [ai, ci] = [lda >> 2, ldc >> 2];
      for (let i = 0; i < m; i += 4) {
        for (let j = 0; j < n; j += 4) {
          const bt = (b >> 2) + (j - (j % PANEL)) * depth + (j % PANEL);
          block(f32, depth, (a >> 2) + i * ai, ai, 1, bt, (c >> 2) + i * ci + j, ci, store);
        }
      }
    },
    addProduct(m, n, depth, a, lda, b, panelBytes, c, ldc, _ranges, _j0, guarded) {
      add(memory.f32, m, n, depth, a >> 2, lda >> 2, 1, b, panelBytes, c, ldc, guarded);
    },
    addTransposedProduct(m, n, depth, a, lda, b, panelBytes, c, ldc, _ranges, _j0, guarded) {
      add(memory.f32, m, n, depth, a >> 2, 1, lda >> 2, b, panelBytes, c, ldc, guarded);
    },
  };
}

function add(
  f32: Float32Array,
  m: number,
  n: number,
  depth: number,
  at: number,
  ai: number,
  ak: number,
  b: number,
  panelBytes: number,
  c: number,
  ldc: number,
  guarded: boolean,
): void {
  const multiply = guarded ? guardedBlock : block;
  const ci = ldc >> 2;
  for (let i = 0; i < m; i += 4) {
    for (let j = 0; j < n; j += 4) {
      const bt = (b + Math.floor(j / PANEL) * panelBytes + (j % PANEL) * 4) >> 2;
      multiply(f32, depth, at + i * ai, ai, ak, bt, (c >> 2) + i * ci + j, ci, addTo);
    }
  }
}

const LDB = PANEL_BYTES >> 2;

function block(
  f32: Float32Array,
  depth: number,
  at: number,
  ai: number,
  ak: number,
  bt: number,
  ct: number,
  ldc: number,
  store: Store,
): void {
  const ai2 = 2 * ai;
  const ai3 = 3 * ai;
  let c00 = 0;
  let c01 = 0;
  let c02 = 0;
  let c03 = 0;
  let c10 = 0;
  let c11 = 0;
  let c12 = 0;
  let c13 = 0;
  let c20 = 0;
  let c21 = 0;
  let c22 = 0;
  let c23 = 0;
  let c30 = 0;
  let c31 = 0;
  let c32 = 0;
  let c33 = 0;
  let p = at;
  let r = bt;
  for (let k = 0; k < depth; k++) {
    const b0 = f32[r];
    const b1 = f32[r + 1];
    const b2 = f32[r + 2];
    const b3 = f32[r + 3];
    const a0 = f32[p];
    const a1 = f32[p + ai];
    const a2 = f32[p + ai2];
    const a3 = f32[p + ai3];
    c00 += a0 * b0;
    c01 += a0 * b1;
    c02 += a0 * b2;
    c03 += a0 * b3;
    c10 += a1 * b0;
    c11 += a1 * b1;
    c12 += a1 * b2;
    c13 += a1 * b3;
    c20 += a2 * b0;
    c21 += a2 * b1;
    c22 += a2 * b2;
    c23 += a2 * b3;
    c30 += a3 * b0;
    c31 += a3 * b1;
    c32 += a3 * b2;
    c33 += a3 * b3;
    p += ak;
    r += LDB;
  }
  store(f32, ct, c00, c01, c02, c03);
  store(f32, ct + ldc, c10, c11, c12, c13);
  store(f32, ct + 2 * ldc, c20, c21, c22, c23);
  store(f32, ct + 3 * ldc, c30, c31, c32, c33);
}

/**
 * Computes the sums of `block` in the order of `block`, except that a weight of 0 adds nothing. Slow, and
 * only for panels that are not finite.
 */
const guardedBlock: typeof block = (f32, depth, at, ai, ak, bt, ct, ldc, store) => {
  const sums = [0, 0, 0, 0];
  for (let i = 0; i < 4; i++) {
    sums.fill(0);
    for (let k = 0; k < depth; k++) {
      const weight = f32[at + i * ai + k * ak];
      if (weight === 0) continue;
      for (let j = 0; j < 4; j++) sums[j] += weight * f32[bt + k * LDB + j];
    }
    store(f32, ct + i * ldc, sums[0], sums[1], sums[2], sums[3]);
  }
};
