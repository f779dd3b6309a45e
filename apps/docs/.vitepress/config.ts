import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { placeholders, readProject } from '../../../scripts/release/project-fields.mjs';
import { breakableNames, liveExamples, repositoryLinks } from '../src/site/markdown.ts';
import { describe, socialCard } from '../src/site/page-head.ts';
import { basePlaceholder, makeRelative } from '../src/site/relative-base.ts';
import { search } from '../src/site/search.ts';
import { sidebar } from '../src/site/sidebar.ts';

const { homepage, repository } = readProject();
const hasHomepage = !placeholders().includes('homepage');
const pages = fileURLToPath(new URL('../../../docs', import.meta.url));

export default defineConfig({
  title: 'Tilewise',
  description: 'Scaled dot-product attention for the web, for inference and training',
  lang: 'en',
  base: basePlaceholder,
  srcDir: '../../docs',
  srcExclude: ['node_modules/**', 'src/**'],
  outDir: './dist',
  cacheDir: './node_modules/.vitepress',
  rewrites: { 'guide/README.md': 'guide/index.md' },
  // The playground is copied beside the pages after they are built.
  ignoreDeadLinks: [/^\/playground\//],
  buildEnd: ({ outDir }) => makeRelative(outDir, hasHomepage ? homepage : undefined),
  transformPageData: page => describe(page, pages),
  transformHead: page => socialCard(page, hasHomepage ? homepage : undefined),
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${basePlaceholder}icon.svg` }]],
  markdown: {
    // The default themes have colours with too little contrast to the background of code.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-default' },
    config(md) {
      md.use(repositoryLinks, { pages, repository });
      md.use(liveExamples);
      md.use(breakableNames);
    },
  },
  vite: {
    publicDir: fileURLToPath(new URL('../public', import.meta.url)),
    build: { target: 'es2022', chunkSizeWarningLimit: 1500 },
    // The pages are outside the site's folder; their imports are resolved from here.
    resolve: { alias: { vue: fileURLToPath(new URL('../node_modules/vue', import.meta.url)) } },
  },
  themeConfig: {
    logo: '/icon.svg',
    nav: [
      { text: 'Start', link: '/start/', activeMatch: '^/start/' },
      { text: 'Guide', link: '/guide/', activeMatch: '^/guide/' },
      { text: 'API', link: '/api/', activeMatch: '^/api/' },
      { text: 'Playground', link: '/playground/index.html', target: '_self' },
    ],
    sidebar,
    outline: { level: [2, 3] },
    search,
    notFound: {
      title: 'There is no page at this address',
      quote: 'The page may have moved. Search for its subject, or begin at the first page.',
      linkText: 'First page',
      linkLabel: 'Go to the first page',
    },
    externalLinkIcon: true,
  },
});
