export type { BrowserHost, ServedFiles } from './open-browser.ts';
export { openBrowser } from './open-browser.ts';
export type { RunInBrowserOptions } from './run-in-browser.ts';
export { runInBrowser } from './run-in-browser.ts';
