import type { PageDesc } from '@tilewise/core';
import { type ShaderPart, u32Uniforms } from '../../codegen/shader-part.ts';
import { joinParts, listElement, listPart } from './list.ts';

/** Makes `NAME_block`: see `pagePart`. */
export type PagePart = (name: 'k' | 'v', page: PageDesc, blocks: number) => ShaderPart;

/**
 * `NAME_block(b, s) -> u32`: the block of a paged operand that holds position s of sequence b, and the
 * uniforms `NAME_page_shift` and `NAME_page_mask`, which split a position into page and row. Tables on the
 * GPU cannot be checked before they are used, so a block number out of range is replaced by the last block:
 * the results are wrong, but nothing is read outside the container.
 */
export function pagePart(name: 'k' | 'v', { size, table }: PageDesc, blocks: number): ShaderPart {
  const suffix = name.toUpperCase();
  const tableName = `pageTable${suffix}`;
  const isPacked = table.shape.length === 1;
  const [outer, inner = 0] = table.strides;
  const counts = `cuPages${suffix}`;
  // As u32, negative numbers are large, and are then clamped to the valid range.
  const lists = joinParts([tableName, ...(isPacked ? [counts] : [])].map(list => listPart(list, 'u32')));
  const entry = isPacked
    ? `min(${listElement(counts, 'b')} + page, P.${name}_last_page) * P.${name}_table_stride`
    : `b * P.${name}_table_sb + page * P.${name}_table_stride`;
  const own = {
    page_shift: Math.log2(size),
    page_mask: size - 1,
    last_block: Math.max(blocks - 1, 0),
    table_stride: isPacked ? outer : inner,
    ...(isPacked ? { last_page: Math.max(table.shape[0] - 1, 0) } : { table_sb: outer }),
  };
  return {
    bindings: lists.bindings,
    uniforms: [...lists.uniforms, ...u32Uniforms(own, `${name}_`)],
    code: `fn ${name}_block(b: u32, s: u32) -> u32 {
  let page = s >> P.${name}_page_shift;
  let entry = ${entry};
  return min(${listElement(tableName, 'entry')}, P.${name}_last_block);
}`,
  };
}
