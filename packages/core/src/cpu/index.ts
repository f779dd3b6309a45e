export * from './engine.ts';
export * from './sdpa.ts';
