import { tileLanes, type WorkgroupTile } from './tile.ts';
import { vectorType } from './workgroup-layout.ts';

/** Vec4s of an operand that the lanes copy from storage to the pool together. Texts are about the n-th of them. */
export interface Chunk {
  readonly vectors: number;
  /** Statements that declare what the others need, if anything. */
  readonly given?: string;
  /** Statements that declare it as `x`, a vec4f, of the chunk that is at `from`. */
  readonly read: (from: string) => string;
  /** Statements that look at x before it is multiplied, if any. */
  readonly look?: string;
  /** WGSL expression of where it is in the pool. */
  readonly slot: string;
}

/** A loop over chunks: its variable, the expression of where it ends, and by how much it goes on. */
export interface ChunkLoop {
  readonly at: string;
  readonly end: string;
  readonly step: number;
}

/**
 * A loop whose `body` has one chunk of each operand in the pool after the other. With `prefetch`, lanes read the next ones from storage
 * into registers before they multiply, so that the reads have arrived when the pool is free.
 */
export function overChunks(
  tile: WorkgroupTile,
  { at, end, step }: ChunkLoop,
  chunks: readonly Chunk[],
  body: string,
): string {
  const loop = (
    arrive: string,
    ahead: string,
  ): string => `for (var ${at} = 0u; ${at} < ${end}; ${at} += ${step}u) {
    workgroupBarrier();
    ${arrive}
    workgroupBarrier();
    ${ahead}${body}
    }`;
  if (!tile.prefetch) return loop(chunks.map(chunk => copy(tile, chunk, at)).join('\n    '), '');
  const count = ({ vectors }: Chunk): number => Math.ceil(vectors / tileLanes(tile));
  const ofAll = (text: (chunk: Chunk, ahead: string) => string): string =>
    chunks.map((chunk, c) => text(chunk, `ahead${c}`)).join('\n    ');
  // Loops, though they are to be unrolled: on so many branches in a row SwiftShader's compiler does not end.
  const each = (statements: (chunk: Chunk, ahead: string) => readonly (string | undefined)[]): string =>
    ofAll((chunk, ahead) => {
      const text = [chunk.given, ...statements(chunk, `${ahead}[turn]`)].filter(Boolean).join('\n      ');
      const fits = chunk.vectors % tileLanes(tile) === 0;
      return `for (var turn = 0u; turn < ${count(chunk)}u; turn++) {
      let n = lane + turn * ${tileLanes(tile)}u;
      ${fits ? text : `if (n < ${chunk.vectors}u) {\n      ${text}\n      }`}
    }`;
    });
  const read = (from: string): string =>
    each((chunk, ahead) => [chunk.read(from), `${ahead} = ${vectorType(tile)}(x);`]);
  const store = each(({ look, slot }, ahead) => [
    look && `let x = vec4f(${ahead});`,
    look,
    `pool[${slot}] = ${ahead};`,
  ]);
  return `{
    ${ofAll((chunk, ahead) => `var ${ahead} = array<${vectorType(tile)}, ${count(chunk)}>();`)}
    ${read('0u')}
    ${loop(
      store,
      `if (${at} + ${step}u < ${end}) {
    ${read(`(${at} + ${step}u)`)}
    }
    `,
    )}
    }`;
}

function copy(tile: WorkgroupTile, { vectors, given, read, look, slot }: Chunk, from: string): string {
  const statements = [given, read(from), look, `pool[${slot}] = ${vectorType(tile)}(x);`];
  return `for (var n = lane; n < ${vectors}u; n += ${tileLanes(tile)}u) {
      ${statements.filter(Boolean).join('\n      ')}
    }`;
}
