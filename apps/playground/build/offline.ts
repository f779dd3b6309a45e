import { createHash } from 'node:crypto';
import type { Plugin } from 'vite';

/** Fonts for formats and scripts that the page's browsers and languages do not request. */
const unused = /\.(ttf|woff)$|(cyrillic|greek|vietnamese|latin-ext)[^/]*\.woff2$|\.map$|^share\//;

/**
 * The service worker: it answers from its cache, adds every response that it forwards to the cache, and
 * caches the whole build when the page is idle. A new build has a new name, and its worker deletes the cache
 * of the old one.
 */
const script = (version: string, files: readonly string[]): string => `const cache = 'tilewise-${version}';
const files = ${JSON.stringify(files)};

addEventListener('install', event => {
  event.waitUntil(caches.open(cache).then(kept => kept.addAll(['./', './icon.svg'])).then(() => skipWaiting()));
});

addEventListener('activate', event => {
  event.waitUntil(
    caches
      .keys()
      .then(names => Promise.all(names.filter(name => name !== cache).map(name => caches.delete(name))))
      .then(() => clients.claim()),
  );
});

addEventListener('message', event => {
  if (event.data !== 'keep') return;
  event.waitUntil(
    caches.open(cache).then(async kept => {
      for (const file of files) if (!(await kept.match(file))) await kept.add(file).catch(() => {});
      event.source?.postMessage('kept');
    }),
  );
});

addEventListener('fetch', event => {
  const { request } = event;
  if (request.method !== 'GET' || !request.url.startsWith(registration.scope)) return;
  event.respondWith(answer(request));
});

async function answer(request) {
  const kept = await caches.open(cache);
  const page = request.mode === 'navigate';
  const found = page ? undefined : await kept.match(request);
  if (found) return found;
  try {
    const response = await fetch(request);
    if (response.ok && !page) await kept.put(request, response.clone());
    return response;
  } catch (error) {
    const last = await kept.match(page ? './' : request, { ignoreSearch: true });
    if (last) return last;
    throw error;
  }
}
`;

/** Emits `sw.js`, which lets the page work offline after the first visit. */
export const offline: Plugin = {
  name: 'offline',
  apply: 'build',
  generateBundle: {
    order: 'post',
    handler(_, bundle) {
      const files = Object.keys(bundle)
        .filter(name => !unused.test(name) && name !== 'index.html')
        .sort();
      const version = createHash('sha256').update(files.join()).digest('hex').slice(0, 12);
      const names = files.map(name => `./${name}`);
      this.emitFile({ type: 'asset', fileName: 'sw.js', source: script(version, names) });
    },
  },
};
