import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/**
 * The base path that the site is built with. VitePress wants one that is known when a site is built;
 * afterwards `makeRelative` puts the place of each page in its stead.
 */
export const basePlaceholder = '/__tilewise_base__/';

/** The name under which a page finds its base path, such as `/docs/`, when it runs. */
const runtimeBase = 'globalThis.__tilewiseBase';

/** All files below a folder, as paths. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesIn(path) : [path];
  });
}

/**
 * Makes a built site independent of the host and path that it is served from: links become relative to their
 * page, and scripts take the base from the address of the page.
 */
export function makeRelative(site: string): void {
  for (const path of filesIn(site)) {
    const text = () => readFileSync(path, 'utf8');
    if (path.endsWith('.html')) writeFileSync(path, relativePage(text(), relative(dirname(path), site)));
    else if (path.endsWith('.js')) writeFileSync(path, relativeScript(text()));
    else if (path.endsWith('.css'))
      writeFileSync(path, text().replaceAll(basePlaceholder, `${relative(dirname(path), site)}/`));
  }
}

/**
 * A page whose links are relative, and which says where the site begins; `up` leads from the page to there.
 */
function relativePage(html: string, up: string): string {
  const prefix = up === '' ? './' : `${up}/`;
  const script = `<script>${runtimeBase}=new URL(${JSON.stringify(prefix)},location.href).pathname</script>`;
  const data = /window\.__VP_SITE_DATA__=JSON\.parse\((.*?)\);/;
  return html
    .replace(data, match => `${match}window.__VP_SITE_DATA__.base=${runtimeBase};`)
    .replaceAll(`"base\\":\\"${basePlaceholder}`, '"base\\":\\"/')
    .replaceAll(basePlaceholder, prefix)
    .replace('<head>', () => `<head>${script}`);
}

/** A script in which each string that has the placeholder is built from the base of the page. */
function relativeScript(code: string): string {
  // The index of the search is one string, of JSON with many links.
  const [, start, index, rest] = /^(const \w+=)('\{.*\}'|`\{.*\}`)(;.*)$/s.exec(code) ?? [];
  if (index !== undefined)
    return `${start}${index}.replaceAll(${JSON.stringify(basePlaceholder)},${runtimeBase})${rest}`;
  return code
    .replace(/(["'`])\/__tilewise_base__\/((?:(?!\1)[^\\\n]|\\.)*)\1/g, (_, quote, rest) =>
      rest === '' ? `(${runtimeBase})` : `(${runtimeBase}+${quote}${rest}${quote})`,
    )
    .replaceAll(basePlaceholder, `\${${runtimeBase}}`);
}
