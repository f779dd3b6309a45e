export type { PartCache } from './cached-download.ts';
export { HubError } from './hub-error.ts';
export type { DownloadProgress, HubOptions } from './hub-files.ts';
export { hubFiles } from './hub-files.ts';
