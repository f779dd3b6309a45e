export type { FileProgress } from '../sources/progress.ts';
export type { PartCache } from './cached-download.ts';
export { HubError } from './hub-error.ts';
export { type HubOptions, hubFiles } from './hub-files.ts';
