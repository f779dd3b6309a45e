import './ui/styles/fonts.css';
import './ui/styles/tokens.css';
import './ui/styles/base.css';
import './ui/styles/layout.css';
import './ui/styles/controls.css';
import './ui/styles/readings.css';
import './ui/styles/print.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/App.tsx';
import { preloadChapter } from './app/chapter-page/preload-chapter.ts';
import { keepForOffline } from './app/offline.ts';
import { recordPlaces } from './state/left-places.ts';
import { startText, TextProvider } from './text/TextProvider.tsx';
import { loadTextFont } from './ui/styles/fonts.ts';

keepForOffline();
recordPlaces();
loadTextFont();

const root = document.getElementById('root');
if (!root) throw new Error('The page has no #root.');
const [first, whole] = await Promise.all([startText(), preloadChapter(window.location.hash)]);
createRoot(root).render(
  <StrictMode>
    <TextProvider first={first} whole={whole}>
      <App />
    </TextProvider>
  </StrictMode>,
);
