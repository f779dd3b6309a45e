export type { PartCache } from './cached-download.ts';
export { HubError } from './hub-error.ts';
export { type DownloadProgress, type HubOptions, hubFiles } from './hub-files.ts';
