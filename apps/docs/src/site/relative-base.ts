import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/**
 * The base path that the site is built with. VitePress needs a base path at build time; afterwards
 * `makeRelative` replaces it by the path of each page.
 */
export const basePlaceholder = '/__tilewise_base__/';

/** The name of the global that holds a page's base path, such as `/docs/`, at run time. */
const runtimeBase = 'globalThis.__tilewiseBase';

/** The paths of all files below a folder. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesIn(path) : [path];
  });
}

/**
 * Makes a built site independent of the host and path that serve it: links become relative to their page, and
 * scripts take the base from the address of the page. Hosts serve `404.html` at any address, from which no
 * relative link leads to the site, so its links begin with the path of `homepage`, if the site has one.
 */
export function makeRelative(site: string, homepage?: string): void {
  for (const path of filesIn(site)) {
    const text = () => readFileSync(path, 'utf8');
    if (path.endsWith('.html')) writeFileSync(path, pageFrom(text(), prefixOf(path, site, homepage)));
    else if (path.endsWith('.js')) writeFileSync(path, relativeScript(text()));
    else if (path.endsWith('.css'))
      writeFileSync(path, text().replaceAll(basePlaceholder, `${relative(dirname(path), site)}/`));
  }
}

/** The path with which the links of a page begin. */
function prefixOf(page: string, site: string, homepage: string | undefined): string {
  if (homepage !== undefined && relative(site, page) === '404.html')
    return new URL(homepage.replace(/\/*$/, '/')).pathname;
  const up = relative(dirname(page), site);
  return up === '' ? './' : `${up}/`;
}

/** A page whose links begin with `prefix`, which leads to the site's root, and that records this place. */
function pageFrom(html: string, prefix: string): string {
  const script = `<script>${runtimeBase}=new URL(${JSON.stringify(prefix)},location.href).pathname</script>`;
  const data = /window\.__VP_SITE_DATA__=JSON\.parse\((.*?)\);/;
  return html
    .replace(data, match => `${match}window.__VP_SITE_DATA__.base=${runtimeBase};`)
    .replaceAll(`"base\\":\\"${basePlaceholder}`, '"base\\":\\"/')
    .replaceAll(basePlaceholder, prefix)
    .replace('<head>', () => `<head>${script}`);
}

/** A script in which each string with the placeholder is computed from the base of the page. */
function relativeScript(code: string): string {
  // The search index is one string of JSON with many links.
  const [, start, index, rest] = /^(const \w+=)('\{.*\}'|`\{.*\}`)(;.*)$/s.exec(code) ?? [];
  if (index !== undefined)
    return `${start}${index}.replaceAll(${JSON.stringify(basePlaceholder)},${runtimeBase})${rest}`;
  return code
    .replace(/(["'`])\/__tilewise_base__\/((?:(?!\1)[^\\\n]|\\.)*)\1/g, (_, quote, rest) =>
      rest === '' ? `(${runtimeBase})` : `(${runtimeBase}+${quote}${rest}${quote})`,
    )
    .replaceAll(basePlaceholder, `\${${runtimeBase}}`);
}
