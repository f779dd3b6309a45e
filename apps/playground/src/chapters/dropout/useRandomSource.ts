import { useState } from 'react';
import { useUrlState } from '../../state/url-state.ts';

/** A field for an unsigned 64-bit integer. */
export interface IntegerField {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly isValid: boolean;
  /** The last valid number, so that figures stay while a visitor types. */
  readonly value: bigint;
}

/** The seed and the offset of dropout, as a visitor types them. */
export function useRandomSource(): { readonly seed: IntegerField; readonly offset: IntegerField } {
  return { seed: useIntegerField('seed'), offset: useIntegerField('offset') };
}

function useIntegerField(name: string): IntegerField {
  const [text, setText] = useUrlState(name, '1');
  const given = unsigned(text);
  const [last, setLast] = useState(given);
  if (given !== null && given !== last) setLast(given);
  return { text, setText, isValid: given !== null, value: given ?? last ?? 1n };
}

/** The number that a visitor typed, or null if it is not an unsigned 64-bit integer. */
function unsigned(text: string): bigint | null {
  if (!/^\s*\d{1,20}\s*$/.test(text)) return null;
  const value = BigInt(text.trim());
  return value < 2n ** 64n ? value : null;
}
