import type { Operation } from '../../ir/schema/operation.ts';
import { anything } from '../ports.ts';

export const end: Operation = {
  kind: 'End',
  summary: 'Marks a tensor as a result although other operations read it; computes nothing.',
  inputs: [{ name: 'src', type: 'T', among: anything }],
  outputs: [],
  attributes: {},
  infer: () => [],
};

export const wildcard: Operation = {
  kind: 'Wildcard',
  summary: 'Stands for an operation of a framework that this library does not know; it cannot run.',
  inputs: [{ name: 'src', type: 'T', among: anything, variadic: true }],
  outputs: [{ name: 'dst', type: 'U', among: anything, variadic: true }],
  attributes: {},
  infer: ({ outputs }) => outputs.map(t => t.shape),
};
