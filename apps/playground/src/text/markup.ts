/** A piece of text: plain, `code`, $a formula$ or *emphasis*. */
export interface Piece {
  readonly kind: 'plain' | 'code' | 'formula' | 'emphasis';
  readonly text: string;
}

const kinds = { '`': 'code', $: 'formula', '*': 'emphasis' } as const;

/**
 * Reads the catalogue's markup: `` `code` ``, `$TeX$`, `*emphasis*`. There is no other markup, so that
 * translators need to know no more.
 */
export function pieces(text: string): Piece[] {
  return text
    .split(/(`[^`]+`|\$[^$]+\$|\*[^*]+\*)/)
    .filter(part => part !== '')
    .map(part => {
      const [first = ''] = part;
      const kind = part.length > 2 && part.endsWith(first) ? kinds[first as keyof typeof kinds] : undefined;
      return kind ? { kind, text: part.slice(1, -1) } : { kind: 'plain', text: part };
    });
}
