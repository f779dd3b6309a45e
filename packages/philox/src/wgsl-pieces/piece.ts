import { checkObject } from '../errors.ts';

/** WGSL declarations, and the pieces whose declarations they use. */
export interface WgslPiece {
  /** The declarations. */
  readonly code: string;
  /** The pieces whose declarations the code uses. Default: none. */
  readonly requires?: readonly WgslPiece[];
}

/**
 * The source of the pieces and of all pieces that they require, each once and before the pieces that use it.
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
