import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { guidesFirst } from '../../src/site/guides-first.ts';
import LiveExample from './LiveExample.vue';
import './style.css';
import './print.css';

export default {
  extends: DefaultTheme,
  enhanceApp({ app, siteData }) {
    app.component('LiveExample', LiveExample);
    siteData.value = guidesFirst(siteData.value);
  },
} satisfies Theme;
