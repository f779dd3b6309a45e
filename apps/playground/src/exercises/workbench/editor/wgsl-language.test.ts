import { expect, it } from 'vitest';
import { coloursOf } from './wgsl-language.ts';

const coloured = (text: string): string[] =>
  coloursOf(text).map(({ from, to, name }) => `${name}: ${text.slice(from, to)}`);

it('colours words, numbers and calls', () => {
  expect(coloured('@compute fn main() { var x: f32 = max(y, 0x1fu); } // let')).toEqual([
    'wgsl-keyword: @compute',
    'wgsl-keyword: fn',
    'wgsl-function: main',
    'wgsl-keyword: var',
    'wgsl-type: f32',
    'wgsl-function: max',
    'wgsl-number: 0x1fu',
    'wgsl-comment: // let',
  ]);
});

it('colours a comment of several lines to its end, with the comments within it', () => {
  const comment = '/* one\n\n  let // x /* two */ still\nthree */';
  expect(coloured(`let a\n${comment} let b`)).toEqual([
    'wgsl-keyword: let',
    `wgsl-comment: ${comment}`,
    'wgsl-keyword: let',
  ]);
});

it('takes an open comment to the end of the program, so that it is seen while it is written', () => {
  expect(coloured('let a /* fn\nfn b')).toEqual(['wgsl-keyword: let', 'wgsl-comment: /* fn\nfn b']);
});
