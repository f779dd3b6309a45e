import type { Plugin } from 'vite';
import { movedChapters } from '../src/state/moved-chapters.ts';
import { firstEn } from '../src/text/en/first.ts';

const { chapters, home, site } = firstEn;
const ids = Object.keys(chapters) as (keyof typeof chapters)[];

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/**
 * The preview that other sites show of a link to a page. `root` leads from the page to the root of the build.
 */
function preview(page: {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly root: string;
}): string {
  const { id, title, description, root } = page;
  const address = process.env.VITE_SITE_URL?.replace(/\/?$/, '/') ?? root;
  return [
    `<meta property="og:type" content="article" />`,
    `<meta property="og:title" content="${escaped(title)}" />`,
    `<meta property="og:description" content="${escaped(description)}" />`,
    `<meta property="og:image" content="${escaped(address)}og/${id}.jpg" />`,
    `<meta name="twitter:card" content="summary_large_image" />`,
    `<meta name="description" content="${escaped(description)}" />`,
  ].join('\n    ');
}

/**
 * A page that describes a chapter to sites that show previews of links, and sends everybody else to the
 * chapter.
 */
function sharePage(id: keyof typeof chapters): string {
  const { title, blurb } = chapters[id];
  const target = `../../#/${id}`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>${escaped(title)} · Tilewise</title>
    ${preview({ id, title: `${title} · Tilewise`, description: blurb, root: '../../' })}
    <meta http-equiv="refresh" content="0; url=${target}" />
  </head>
  <body>
    <p><a href="${target}">${escaped(title)}</a>: ${escaped(blurb)}</p>
  </body>
</html>
`;
}

/** The text for a visitor without JavaScript. */
function withoutScript(): string {
  const list = ids.map(
    id => `<li><strong>${escaped(chapters[id].title)}</strong>: ${escaped(chapters[id].blurb)}</li>`,
  );
  return `<noscript>
      <main>
        <h1>${escaped(home.heading)}</h1>
        <p>${escaped(home.blurb)}</p>
        <p>${escaped(site.needsScript)}</p>
        <ul>${list.join('\n')}</ul>
      </main>
    </noscript>`;
}

/**
 * Adds pages that can be read without JavaScript: the contents on the page itself, and for each chapter a
 * page with its preview (`share/machine/`), since the part of an address after # is never sent to a server.
 */
export const staticPages: Plugin = {
  name: 'static-pages',
  transformIndexHtml: html =>
    html
      .replace(
        /<meta name="description"[^>]*>/,
        preview({ id: 'home', title: site.title, description: home.blurb, root: './' }),
      )
      .replace('<div id="root"></div>', `<div id="root"></div>\n    ${withoutScript()}`),
  generateBundle() {
    for (const id of ids) {
      this.emitFile({ type: 'asset', fileName: `share/${id}/index.html`, source: sharePage(id) });
    }
    for (const [old, id] of Object.entries(movedChapters)) {
      this.emitFile({ type: 'asset', fileName: `share/${old}/index.html`, source: sharePage(id) });
    }
  },
};
