import { type ArrayName, formOf } from './arrays.ts';
import { type Puzzle, tileRows } from './puzzles.ts';

const comments = { matrix: 'n × D', rows: 'rows × n', vector: 'n', pairs: 'lse, delta' } as const;

/** The name of the function that counts the reads of an array. */
const counter = (array: ArrayName): string => `counted_${array}`;

/**
 * The WGSL that precedes a visitor's program: constants, sizes and bindings. In the softmax puzzles, n is the
 * length of a row, and there are no tiles.
 */
export function headerOf(puzzle: Puzzle, columns: number): string {
  const isSoftmax = puzzle.workgroup === 'row';
  const declare = (name: ArrayName, access: string, at: number): string => {
    const type = formOf(name) === 'pairs' ? 'vec2f' : 'f32';
    return `@group(0) @binding(${at}) var<storage, ${access}> ${name}: array<${type}>; // ${comments[formOf(name)]}`;
  };
  const { inputs, outputs } = puzzle;
  return [
    ...(isSoftmax ? [] : [`const D = ${columns}u;`]),
    ...(puzzle.workgroup === 'tile' ? [`const TILE = ${tileRows}u;`] : []),
    isSoftmax ? 'struct Sizes { n: u32 }' : 'struct Sizes { n: u32, scale: f32 }',
    '@group(0) @binding(0) var<uniform> sizes: Sizes;',
    ...inputs.map((name, n) => declare(name, 'read', n + 1)),
    ...outputs.map((name, n) => declare(name, 'read_write', n + 1 + inputs.length)),
  ].join('\n');
}

/** The functions that count reads, for programs that `countReads` has rewritten. */
export function countersOf({ inputs }: Puzzle): string {
  return [
    '@group(1) @binding(0) var<storage, read_write> counted_reads: array<atomic<u32>>;',
    ...inputs.map(
      (name, n) => `fn ${counter(name)}(at: u32) -> u32 { atomicAdd(&counted_reads[${n}], 1u); return at; }`,
    ),
  ].join('\n');
}

/**
 * Rewrites a program so that it counts every read of the arrays: `k[e]` becomes `k[counted_k(u32(e))]`. Line
 * breaks stay where they are. Reads through a pointer are not counted.
 */
export function countReads(program: string, arrays: readonly ArrayName[]): string {
  const names = new Set<string>(arrays);
  // Comments, names, brackets, and each other character by itself.
  const tokens = program.match(/\/\/[^\n]*|\/\*[\s\S]*?\*\/|[A-Za-z_]\w*|\s+|[\s\S]/g) ?? [];
  const closing: string[] = [];
  let last = '';
  let beforeLast = '';
  return tokens
    .map(token => {
      const written = /^(\s|\/\/|\/\*)/.test(token);
      const [name, before] = [last, beforeLast];
      if (!written) [last, beforeLast] = [token, last];
      if (token === '[') {
        const counted = names.has(name) && before !== '.';
        closing.push(counted ? '))]' : ']');
        return counted ? `[counted_${name}(u32(` : '[';
      }
      return token === ']' ? (closing.pop() ?? ']') : token;
    })
    .join('');
}
