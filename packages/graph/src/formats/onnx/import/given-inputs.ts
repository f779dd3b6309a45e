import { InvalidGraphError } from '../../../errors.ts';
import type { ValueRecord } from './file/read-model.ts';
import type { HostTensor } from './value.ts';

/** The shapes and numbers of the model's inputs. Numbers are read only if shapes depend on them. */
export interface GivenInputs {
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  readonly values: Readonly<Record<string, HostTensor>>;
}

/** The model's declaration of an input, with ? for a rank or an extent that the model leaves open. */
export function declaration(name: string, declared: ValueRecord['shape']): string {
  return `input '${name}' is declared as [${declared?.map(extent => extent ?? '?').join(', ') ?? '?'}]`;
}

/** @throws InvalidGraphError if a shape contradicts the model's declaration of the input. */
export function checkShape(name: string, declared: ValueRecord['shape'], shape: readonly number[]): void {
  const fits =
    declared === null ||
    (declared.length === shape.length &&
      declared.every((extent, d) => typeof extent !== 'number' || extent === shape[d]));
  if (!fits || shape.some(n => !Number.isSafeInteger(n) || n < 0))
    throw new InvalidGraphError(`${declaration(name, declared)}, got [${shape}]`, name);
}
