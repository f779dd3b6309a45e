import { type Support, UnsupportedError } from '@tilewise/core';

/** A support report: supported if there are no reasons against it. */
export function support(reasons: readonly string[]): Support {
  return { supported: reasons.length === 0, reasons };
}

/** @throws UnsupportedError with the reasons, if there are any. */
export function demandSupport(reasons: readonly string[]): void {
  if (reasons.length > 0) throw new UnsupportedError('webgpu', reasons);
}
