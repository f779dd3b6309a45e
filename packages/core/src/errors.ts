import { TilewiseError } from '@tilewise/philox/errors';

export {
  checkFunction,
  checkObject,
  checkOneOf,
  checkOptions,
  describeValue,
  type ErrorCode,
  InvalidArgumentError,
  TilewiseError,
} from '@tilewise/philox/errors';

/** A shape, stride or extent does not fit. */
export class InvalidShapeError extends TilewiseError {
  override readonly name: string = 'InvalidShapeError';
  constructor(argument: string, rule: string) {
    super('INVALID_SHAPE', `${argument} ${rule}`, { argument });
  }
}

/** An argument has a dtype that it must not have. */
export class InvalidDTypeError extends TilewiseError {
  override readonly name: string = 'InvalidDTypeError';
  constructor(argument: string, rule: string) {
    super('INVALID_DTYPE', `${argument} ${rule}`, { argument });
  }
}

/** A request is valid, but this engine cannot carry it out; `reasons` are those of `checkSupport`. */
export class UnsupportedError extends TilewiseError {
  override readonly name: string = 'UnsupportedError';
  /** Why the engine cannot run the problem, one sentence each. */
  readonly reasons: readonly string[];
  constructor(engine: string, reasons: readonly string[]) {
    super('UNSUPPORTED', `the ${engine} engine cannot run this problem: ${reasons.join('; ')}`);
    this.reasons = reasons;
  }
}
