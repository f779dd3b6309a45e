import { Tensor } from '../../src/tensor/tensor.ts';
import {
  B,
  type BrokenCall,
  cuSeqLens,
  D,
  dtype,
  f32,
  H,
  i32,
  packed,
  S,
  shape,
  typed,
  value,
} from './call.ts';

/** q, k and v in MXFP8, and their scales. */
const eightBit = {
  q: typed('f8e4m3', B, H, S, D),
  k: typed('f8e4m3', B, H, S, D),
  v: typed('f8e4m3', B, H, S, D),
};
const blockScales = {
  descaleQ: typed('u8', B, H, S, 1),
  descaleK: typed('u8', B, H, S, 1),
  descaleV: typed('u8', B, H, 1, D),
};
/** The two 8-bit contracts. */
export const eightBitCalls: readonly BrokenCall[] = [
  dtype('fp8', /needs q in f8e4m3 or f8e5m2.*got f32/, { options: { fp8: {} } }),
  value('fp8.scaleS', /finite number > 0, got 0/, { options: { fp8: { scaleS: 0 } } }),
  shape('fp8.scaleS', /one element, got shape \[2\]/, { options: { fp8: { scaleS: f32(2) } } }),
  dtype('fp8.scaleS', /must be f32, got i32/, { options: { fp8: { scaleS: i32(1) } } }),
  dtype('fp8.formatP', /must have a dtype of f8e4m3, f8e5m2, u8, i8, got f16/, {
    options: { fp8: { formatP: { dtype: 'f16' } } },
  }),
  value('fp8.formatP.zeroPoint', /must be an integer in \[-128, 127\] for i8, got 128/, {
    options: { fp8: { formatP: { dtype: 'i8', zeroPoint: 128 } } },
  }),
  value('fp8.formatP', /is a format of forward only/, {
    options: { fp8: { formatP: { dtype: 'u8' } } },
    backward: true,
  }),
  ...(['amaxS', 'amaxO'] as const).map(name =>
    value(`outputs.${name}`, /give fp8 too/, { options: { outputs: { [name]: true } } }),
  ),
  ...(
    [
      ['amaxDQ', 'dk'],
      ['amaxDK', 'dv'],
      ['amaxDV', 'dq'],
      ['amaxDP', 'dv'],
    ] as const
  ).flatMap(([name, other]) => [
    value(`outputs.${name}`, /give fp8 too/, { backward: true, options: { outputs: { [name]: true } } }),
    value(`outputs.${name}`, new RegExp(`among the gradients, got ${other}`), {
      backward: true,
      inputs: { q: typed('f8e4m3', B, H, S, D) },
      options: { fp8: {}, gradients: [other], outputs: { [name]: true } },
    }),
  ]),
  value('mxfp8', /cannot be combined with fp8/, {
    inputs: eightBit,
    options: { mxfp8: blockScales, fp8: {} },
  }),
  value('mxfp8.layout', /must be one of rows, F8_128x4, got "columns"/, {
    inputs: eightBit,
    options: { mxfp8: { ...blockScales, layout: 'columns' } },
  }),
  value('mxfp8', /cannot be combined with a packed, ragged or paged q/, {
    inputs: { q: packed.q.cast('f8e4m3'), k: packed.k.cast('f8e4m3'), v: packed.v.cast('f8e4m3') },
    options: { ...cuSeqLens, mxfp8: blockScales },
  }),
  value('mxfp8.descaleV', /must be given/, {
    inputs: eightBit,
    options: { mxfp8: { ...blockScales, descaleV: undefined } },
  }),
  value('mxfp8.qT', /must be given/, {
    backward: true,
    inputs: eightBit,
    options: { mxfp8: { ...blockScales, descaleQT: blockScales.descaleV } },
  }),
  shape('mxfp8.descaleQ', /must have shape \[2,2,3,1\], got \[2,2,1,4\]/, {
    inputs: eightBit,
    options: { mxfp8: { ...blockScales, descaleQ: blockScales.descaleV } },
  }),
  shape('mxfp8.descaleQ', /must be contiguous \(strides \[6,3,1,1\]\), got strides/, {
    inputs: eightBit,
    options: {
      mxfp8: {
        ...blockScales,
        descaleQ: Tensor.zeros([B, H, S, 1], { dtype: 'u8', strides: [12, 6, 2, 1] }),
      },
    },
  }),
  dtype('mxfp8.descaleQ', /must be u8, got i8/, {
    inputs: eightBit,
    options: { mxfp8: { ...blockScales, descaleQ: typed('i8', B, H, S, 1) } },
  }),
  dtype('q', /f8e4m3 or f8e5m2 with mxfp8, and the dtype of q, got f32/, { options: { mxfp8: blockScales } }),
  dtype('k', /f8e4m3 or f8e5m2 with mxfp8, and the dtype of q, got f8e5m2/, {
    inputs: { ...eightBit, k: typed('f8e5m2', B, H, S, D) },
    options: { mxfp8: blockScales },
  }),
  dtype('v', /f8e4m3 or f8e5m2 with mxfp8, and the dtype of q, got f32/, {
    inputs: { ...eightBit, v: f32(B, H, S, D) },
    options: { mxfp8: blockScales },
  }),
  value('outputs.amaxS', /not available with mxfp8/, {
    inputs: eightBit,
    options: { mxfp8: blockScales, outputs: { amaxS: true } },
  }),
];
