import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Site } from './site.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Rules of WCAG and of good practice that the page in its current state breaks, with the elements that break
 * them.
 */
export async function brokenRules(page: Site['page']): Promise<string[]> {
  await page.evaluate(axeSource);
  const found = await page.evaluate(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' ')).join(', ')))`,
  );
  return found as string[];
}
