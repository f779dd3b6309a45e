import { describe, expect, it } from 'vitest';
import { laneColumns } from './lane-columns.ts';

const rows = { keptStep: 64, reducedStep: 1 };
const columns = { keptStep: 1, reducedStep: 64 };

describe.each([
  ['rows', rows],
  ['columns', columns],
])('on a CPU, %s', (_, steps) => {
  it('have one lane each, without a barrier, if there are enough', () => {
    for (const results of [32, 768, 28_544])
      expect(laneColumns({ results, depth: 64, onCpu: true, ...steps }).length).toBe(1);
    expect(laneColumns({ results: 768, depth: 64, onCpu: true, ...steps }).tree('s', 'x', String)).toBe('');
  });

  it('are shared by lanes if there are few, so that several cores have work', () => {
    for (const results of [1, 3, 16]) {
      const { length } = laneColumns({ results, depth: 4096, onCpu: true, ...steps });
      expect(results * length).toBeGreaterThanOrEqual(32);
    }
  });

  it('have as many workgroups as cores want, and larger workgroups if there are more', () => {
    const groupsOf = (results: number): number =>
      Math.ceil(results / laneColumns({ results, depth: 64, onCpu: true, ...steps }).columns);
    expect(groupsOf(768)).toBeGreaterThanOrEqual(16);
    expect(groupsOf(32)).toBeGreaterThanOrEqual(4);
    expect(groupsOf(28_544)).toBe(28_544 / 64);
  });
});

it('gives a short row no more lanes than it has vectors', () => {
  for (const onCpu of [false, true])
    expect(laneColumns({ results: 1, depth: 8, onCpu, ...rows }).length).toBeLessThanOrEqual(2);
});

it('lets the lanes of a GPU read neighbouring elements', () => {
  const onCpu = false;
  expect(laneColumns({ results: 768, depth: 1024, onCpu, ...rows })).toMatchObject({
    ...{ along: 'reduced', length: 256, columns: 1 },
  });
  expect(laneColumns({ results: 768, depth: 1024, onCpu, ...columns }).along).toBe('kept');
});
