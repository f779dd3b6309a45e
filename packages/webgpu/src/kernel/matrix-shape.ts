/** M × K matrices of `component` times K × N give M × N in f32. */
export interface MatrixShape {
  readonly M: 8 | 16;
  readonly N: 8 | 16;
  readonly K: 8 | 16;
  readonly component: 'f16' | 'f32';
}
