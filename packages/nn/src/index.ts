export * from './checkpoint/index.ts';
export * from './hub/index.ts';
