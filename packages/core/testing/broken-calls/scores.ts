import { load } from '../../src/expr/build.ts';
import { scoreMod } from '../../src/expr/mods/mod.ts';
import { alibiMod } from '../../src/expr/mods/score-mods.ts';
import { B, type BrokenCall, D, dtype, f32, H, i32, S, shape, typed, value } from './call.ts';

/** The broken calls in which an option of scores or probabilities is wrong. */
export const scoreCalls: readonly BrokenCall[] = [
  value('scale', /finite number, got NaN/, { options: { scale: NaN } }),
  value('softcap', /number from 1e-30 to 1e30, got -1/, { options: { softcap: -1 } }),
  value('window.left', /integer ≥ 0.*got -2/, { options: { window: { left: -2 } } }),
  value('window.right', /integer ≥ 0.*got 0.5/, { options: { window: { right: 0.5 } } }),
  value('causal', /got "left"/, { options: { causal: 'left' } }),
  value('window.align', /got "middle"/, { options: { window: { align: 'middle' } } }),
  // The boolean is a value of `causal`, which has another meaning there.
  value('window.align', /must be one of top-left, bottom-right, got true/, {
    options: { window: { align: true } },
  }),
  value('window.align', /match causal \(top-left\), got bottom-right/, {
    options: { causal: true, window: { align: 'bottom-right' } },
  }),
  dtype('bias', /bf16, f8e4m3 or .*, got bool/, { options: { bias: typed('bool', S, S) } }),
  shape('bias', /broadcastable to \[2,2,3,3\], got shape \[2\]/, { options: { bias: f32(2) } }),
  value('bias', /must be a tensor, got Array/, { options: { bias: [1, 2, 3] } }),
  dtype('mask', /bool or u8, got f32/, { options: { mask: f32(S, S) } }),
  dtype('blockMask', /must be u8, got i32/, { options: { blockMask: typed('i32', 1, 1, 1, 1) } }),
  shape('blockMask', /must end in \[1,2\]/, {
    inputs: { ...{ k: f32(B, H, 1100, D), v: f32(B, H, 1100, D) } },
    options: { blockMask: typed('u8', 1, 1, 1, 1) },
  }),
  value('alibi', /finite numbers, got NaN at 1/, { options: { alibi: [1, NaN] } }),
  shape('alibi', /must have shape \[2\], got \[3\]/, { options: { alibi: [1, 2, 3] } }),
  dtype('sink', /must be f32, got i32/, { options: { sink: i32(1, 2) } }),
  value('dropout', /got neither/, { options: { dropout: { p: 0.5 } } }),
  value('dropout', /got both/, { options: { dropout: { p: 0.5, seed: 1, mask: typed('bool', 1) } } }),
  value('dropout', /got neither/, { options: { dropout: {} } }),
  value('dropout', /got neither/, { options: { dropout: { p: 0.5, seed: undefined } } }),
  value('dropout.offset', /has no effect beside a mask/, {
    options: { dropout: { mask: typed('bool', 1), offset: 64 } },
  }),
  value('dropout.scheme', /has no effect beside a mask/, {
    options: { dropout: { mask: typed('bool', 1), scheme: 'onednn' } },
  }),
  value('dropout.scale', /has no effect beside a seed/, {
    options: { dropout: { p: 0.5, seed: 1, scale: 1 } },
  }),
  value('dropout.p', /has no effect beside a scale/, {
    options: { dropout: { mask: typed('bool', 1), p: 0.5, scale: 1 } },
  }),
  value('dropout.p', /in \[0, 1\), got undefined/, { options: { dropout: { seed: 1 } } }),
  value('dropout.p', /in \[0, 1\), got 1$/, { options: { dropout: { p: 1, seed: 1 } } }),
  value('dropout.seed', /-1/, { options: { dropout: { p: 0.5, seed: -1 } } }),
  value('dropout.scheme', /must be one of.*got "mine"/, {
    options: { dropout: { p: 0.5, seed: 1, scheme: 'mine' } },
  }),
  value('dropout.scale', /finite, got Infinity/, {
    options: { dropout: { mask: typed('bool', 1), scale: Infinity } },
  }),
  value('dropout.scale', /finite, got 1e\+39/, {
    options: { dropout: { mask: typed('bool', 1), scale: 1e39 } },
  }),
  dtype('dropout.mask', /bool or u8, got f32/, { options: { dropout: { mask: f32(1) } } }),
  value('scoreMod', /must be made by scoreMod, maskMod or modOf/, {
    options: { scoreMod: { expr: scoreMod(() => 1).expr } },
  }),
  value('scoreMod.captures', /must hold 'table'/, {
    options: { scoreMod: scoreMod(() => load('table', [0])) },
  }),
  value('maskMod', /must give bool/, { options: { maskMod: scoreMod(({ score }) => score) } }),
  value('maskMod.captures', /different 'alibiSlopes' than scoreMod.captures/, {
    options: {
      scoreMod: alibiMod(f32(H)),
      maskMod: {
        ...alibiMod(f32(H)),
        expr: {
          kind: 'binary',
          type: 'bool',
          op: 'gt',
          a: load('alibiSlopes', [0]),
          b: load('alibiSlopes', [1]),
        },
      },
    },
  }),
];
