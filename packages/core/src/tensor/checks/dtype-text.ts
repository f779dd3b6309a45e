import type { DType } from '../dtype/dtype.ts';

/** The text of an error about a dtype that is not allowed: "must be f32, f16 or bf16, got i32". */
export function dtypeText(dtypes: readonly DType[], got: unknown): string {
  return `must be ${dtypes.join(', ').replace(/, (?=\w+$)/, ' or ')}, got ${got}`;
}
