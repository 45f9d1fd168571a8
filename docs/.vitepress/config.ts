// The documentation site: the Markdown pages of the project, as they are. `npm run docs:build` writes it to `docs-site`,
// `npm run docs:dev` shows it while you write. The pages keep working on a code host, so links are relative there and
// are translated here.
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { type DefaultTheme, type MarkdownEnv, type MarkdownRenderer, type UserConfig, defineConfig } from 'vitepress';

import { writeServiceWorker } from '../../web/write-service-worker.mjs';
import { sections } from './sections.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** The path at which a host serves the site, such as `/evenhand/`. */
const base = process.env['DOCS_BASE'] ?? '/';

/** Returns the path of a page on the site: README files are the indexes of their folders. */
function sitePath(page: string): string {
  return page.replace(/^docs\//, '').replace(/(^|\/)README\.md$/, '$1index.md');
}

/** Returns the first heading of a page as text. */
function headingOf(page: string): string {
  const [, heading = page] = /^# (.+)$/m.exec(readFileSync(path.join(root, page), 'utf8')) ?? [];
  const text = heading
    .replaceAll(/[`*]/g, '')
    .replace(/^Reference: /, '')
    .replace(/^Tutorial for (.+?): .*/, 'For $1');
  // The names of entry points, such as evenhand/metrics, are written as in an import.
  return text.includes('/') ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

function sidebarItem(page: string): DefaultTheme.SidebarItem {
  return {
    text: page === 'README.md' ? 'Overview' : headingOf(page),
    link: `/${sitePath(page).replace(/index\.md$/, '')}`.replace(/\.md$/, ''),
  };
}

const sidebar: DefaultTheme.SidebarItem[] = sections.map(({ title, pages, isOpen }) => ({
  text: title,
  collapsed: isOpen !== true,
  items: pages.map(sidebarItem),
}));

/** The files other than pages that pages link to. They are copied to the site. */
const linkedFiles = new Set<string>();

/** Translates the links of a page, which are relative to its file in the project, to paths of the site. */
function translateLinks(md: MarkdownRenderer): void {
  md.core.ruler.push('site-links', ({ tokens, env }) => {
    const { realPath, path: rewritten } = env as MarkdownEnv;
    const folder = path.dirname(path.relative(root, realPath ?? rewritten));
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null;
      if (href === null || /^([a-z]+:|#|\/)/.test(href)) continue;
      const [target = '', hash] = href.split('#');
      const file = path.posix.join(folder, target);
      const page = pageOf(file);
      if (page === undefined) {
        token.attrSet('href', `${base}files/${file}`);
        // The router of the site only knows pages.
        token.attrSet('target', '_blank');
        linkedFiles.add(file);
      } else {
        token.attrSet('href', `/${sitePath(page)}${hash === undefined ? '' : `#${hash}`}`);
      }
    }
  });
}

/** Returns the page that shows a file or a folder of the project, if there is one. */
function pageOf(target: string): string | undefined {
  if (target.endsWith('.md')) return target;
  return existsSync(path.join(root, target, 'README.md')) ? `${target}/README.md` : undefined;
}

/** The largest length of short code that stays on one line, also on a phone. */
const MAX_UNBROKEN = 30;

/** Keeps braces in text and in short code from being read as expressions of Vue. */
function protectBraces(md: MarkdownRenderer): void {
  const escaped = (text: string): string => md.utils.escapeHtml(text).replaceAll('{{', '&#123;&#123;');
  md.renderer.rules.text = (tokens, index) => escaped(tokens[index]?.content ?? '');
  md.renderer.rules.code_inline = (tokens, index) => {
    const text = tokens[index]?.content ?? '';
    const style = text.length <= MAX_UNBROKEN ? ' class="short"' : '';
    return `<code v-pre${style}>${escaped(text)}</code>`;
  };
}

/** The ids that code hosts give headings, so that links to headings work there and here. */
function headingId(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

/**
 * Makes the arrow of a section of the navigation a picture. The theme has a button in a button there, which screen
 * readers cannot reach; the outer one does the same.
 */
function plainCarets(): NonNullable<NonNullable<UserConfig['vite']>['plugins']>[number] {
  return {
    name: 'plain-carets',
    enforce: 'pre',
    transform(code, id) {
      if (!id.endsWith('VPSidebarItem.vue')) return null;
      const start = code.indexOf('class="caret"');
      const end = code.indexOf('>', code.indexOf('tabindex="0"', start));
      if (start < 0 || end < start) throw new Error('The theme has another arrow in VPSidebarItem.vue');
      return `${code.slice(0, start)}class="caret"${code.slice(end)}`;
    },
  };
}

export default defineConfig({
  title: 'evenhand',
  titleTemplate: ':title | evenhand',
  description: 'Measures whether the decisions of a model differ between groups of people, and how certain that is.',
  lang: 'en',
  base,
  srcDir: root,
  srcExclude: ['!(docs|examples|models)/**/*.md', 'docs/.vitepress/**', '.github/**'],
  outDir: path.join(root, 'docs-site'),
  cacheDir: path.join(root, 'node_modules/.cache/vitepress'),
  rewrites: sitePath,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}icon.svg` }]],
  // Pages that nobody asked for would double what a page transfers.
  router: { prefetchLinks: false },
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // Tags in the pages are names such as <column>, and braces are parts of configurations.
    html: false,
    attrs: { disable: true },
    anchor: { slugify: headingId },
    config(md) {
      translateLinks(md);
      protectBraces(md);
    },
  },
  themeConfig: {
    logo: '/icon.svg',
    nav: [
      { text: 'Start', link: '/fairness-in-20-minutes' },
      { text: 'Which metric', link: '/which-metric' },
      { text: 'Glossary', link: '/glossary' },
      { text: 'Reference', link: '/reference/' },
    ],
    sidebar,
    outline: { level: [2, 3] },
    search: { provider: 'local' },
    externalLinkIcon: true,
    docFooter: { prev: 'Previous page', next: 'Next page' },
  },
  vite: {
    publicDir: path.join(root, 'web/public'),
    logLevel: 'warn',
    // The index of the search is one file, which is loaded when a reader opens the search.
    build: { chunkSizeWarningLimit: 2000 },
    plugins: [plainCarets()],
  },
  buildEnd(site) {
    for (const file of linkedFiles) {
      const copy = path.join(site.outDir, 'files', file);
      mkdirSync(path.dirname(copy), { recursive: true });
      cpSync(path.join(root, file), copy);
    }
    writeServiceWorker(site.outDir, 'docs');
  },
});
