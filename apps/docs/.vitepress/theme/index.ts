import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { withSearchOptions } from '../../src/site/search-options.ts';
import LiveExample from './LiveExample.vue';
import './style.css';
import './print.css';

export default {
  extends: DefaultTheme,
  enhanceApp({ app, siteData }) {
    app.component('LiveExample', LiveExample);
    siteData.value = withSearchOptions(siteData.value);
  },
} satisfies Theme;
