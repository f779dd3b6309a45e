import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixturesDir, sharedDir } from './data-folders.ts';

/** Nested lists: (B, H, blocks) counts, (B, H, blocks, count) indices. */
type Counts = readonly (readonly (readonly number[])[])[];
type Indices = readonly (readonly (readonly (readonly number[])[])[])[];

/** The result of PyTorch's `create_block_mask` for one mask and shape, without the unused indices. */
export interface BlockMaskCase {
  readonly mask: string;
  readonly B: number | null;
  readonly H: number | null;
  readonly qLen: number;
  readonly kvLen: number;
  readonly blockSize: readonly [q: number, kv: number];
  readonly kvNumBlocks: Counts;
  readonly kvIndices: Indices;
  readonly fullKvNumBlocks: Counts;
  readonly fullKvIndices: Indices;
  readonly qNumBlocks: Counts;
  readonly qIndices: Indices;
  readonly fullQNumBlocks: Counts;
  readonly fullQIndices: Indices;
  readonly sparsityPct: number;
}

/** All cases: from the full set if it is present, else from the committed one. */
export function blockMaskCases(): readonly BlockMaskCase[] {
  const shared = sharedDir();
  const full = shared && join(shared, 'conformance', 'pytorch', 'block-masks.json');
  const file = full && existsSync(full) ? full : join(fixturesDir(), 'pytorch', 'block-masks.json');
  return JSON.parse(readFileSync(file, 'utf8')).cases;
}
