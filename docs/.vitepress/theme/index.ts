import type { Theme } from 'vitepress';
// The fonts of the system: the theme's own font would be half of the size of a page.
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';

import { OfflineButton } from './offline-button.ts';
import './style.css';

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'sidebar-nav-after': () => h(OfflineButton) }),
} satisfies Theme;
