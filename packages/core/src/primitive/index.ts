export type * from './bound-work.ts';
export { checkPrimitive } from './check.ts';
export { coordinate, input, inputAt, inputName, reduced } from './element.ts';
export { hostPrimitives } from './host/host-primitives.ts';
export { canOverwrite } from './in-place.ts';
export type * from './prepared-attention.ts';
export type * from './primitive.ts';
export type * from './primitive-engine.ts';
export type * from './recording.ts';
