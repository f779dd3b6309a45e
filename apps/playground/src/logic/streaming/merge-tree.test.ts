import { describe, expect, it } from 'vitest';
import { groupState, lastMerge, mergeGroups, readMerging, unmerged, writeMerging } from './merge-tree.ts';
import { output, tileState } from './softmax-state.ts';

const tiles = [[1], [3], [2], [-1]].map(x => tileState(x, [[x[0] ?? 0]]));

describe('merging by hand', () => {
  it('gives the same output in any order', () => {
    const inOrder = mergeGroups(mergeGroups(mergeGroups(unmerged(4), 0, 1), 0, 1), 0, 1);
    const crossed = mergeGroups(mergeGroups(mergeGroups(unmerged(4), 3, 1), 1, 2), 0, 1);
    const whole = output(tileState([1, 3, 2, -1], [[1], [3], [2], [-1]]))[0] ?? Number.NaN;
    for (const { groups } of [inOrder, crossed]) {
      expect(groups).toHaveLength(1);
      expect(output(groupState(groups[0] ?? [], tiles))[0]).toBeCloseTo(whole, 12);
    }
  });

  it('knows the factors of the last merge', () => {
    const merge = lastMerge(mergeGroups(unmerged(4), 0, 1), tiles);
    expect(merge?.factors).toEqual([Math.exp(-2), 1]);
    expect(lastMerge(unmerged(4), tiles)).toBeNull();
  });

  it('is read from the URL as it was written', () => {
    const merging = mergeGroups(mergeGroups(unmerged(4), 2, 0), 0, 2);
    expect(writeMerging(merging)).toBe('3-1.20');
    expect(readMerging(writeMerging(merging), 4)).toEqual(merging);
    expect(readMerging(writeMerging(unmerged(4)), 4)).toEqual(unmerged(4));
  });

  it.each(['', '0-1-2', '0-1-2-2', '01.2.3', '0.1-2-3', '0--1-2-3', 'abc'])('begins anew from %o', text => {
    expect(readMerging(text, 4)).toEqual(unmerged(4));
  });
});
