import { B, type BrokenCall, D, dtype, f32, H, paged, pages, S, shape, typed, value } from './call.ts';

/** The broken calls of backward. */
export const backwardCalls: readonly BrokenCall[] = [
  shape('o', /shape of the output.*got \[2,2,3,5\]/, { backward: true, inputs: { o: f32(B, H, S, 5) } }),
  dtype('o', /bf16, f8e4m3 or .*, got u8/, { backward: true, inputs: { o: typed('u8', B, H, S, D) } }),
  shape('dO', /shape of the output.*got \[2,1,3,4\]/, { backward: true, inputs: { dO: f32(B, 1, S, D) } }),
  dtype('dO', /bf16, f8e4m3 or .*, got i32/, { backward: true, inputs: { dO: typed('i32', B, H, S, D) } }),
  shape('lse', /must have shape \[2,2,3\], got \[2,2,4\]/, { backward: true, inputs: { lse: f32(B, H, 4) } }),
  dtype('dLse', /must be f32, got f16/, { backward: true, inputs: { dLse: typed('f16', B, H, S) } }),
  value('gradients', /cannot include dbias: its input was not given/, {
    backward: true,
    options: { gradients: ['dbias'] },
  }),
  value('gradients', /must be among dq.*got dx/, { backward: true, options: { gradients: ['dx'] } }),
  value('gradients', /cannot include dk of a paged k/, {
    backward: true,
    inputs: paged,
    options: { ...pages, gradients: ['dk'] },
  }),
  value('gradients', /cannot include dv of a paged v/, {
    backward: true,
    inputs: paged,
    options: { ...pages, gradients: ['dv'] },
  }),
  dtype('gradDType', /bf16, f8e4m3 or .*, got bool/, { backward: true, options: { gradDType: 'bool' } }),
];
