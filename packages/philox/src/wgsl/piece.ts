import { checkObject } from '../errors.ts';

/** Some WGSL declarations and the pieces whose declarations they use. */
export interface WgslPiece {
  readonly code: string;
  readonly requires?: readonly WgslPiece[];
}

/**
 * The source of the pieces and of all that they require, each declaration once, what is used before its
 * users.
 */
export function composeWgsl(...pieces: readonly WgslPiece[]): string {
  const codes = new Set<string>();
  const add = (piece: WgslPiece): void => {
    checkObject('pieces', piece);
    piece.requires?.forEach(add);
    codes.add(piece.code);
  };
  pieces.forEach(add);
  return [...codes].join('\n');
}
