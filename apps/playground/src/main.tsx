import './ui/fonts.css';
import './ui/tokens.css';
import './ui/base.css';
import './ui/layout.css';
import './ui/controls.css';
import './ui/readings.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/App.tsx';
import { keepForOffline } from './app/offline.ts';
import { preloadChapter } from './app/preload-chapter.ts';
import { firstWords, TextProvider } from './text/TextProvider.tsx';

keepForOffline();

preloadChapter(window.location.hash);
const root = document.getElementById('root');
if (!root) throw new Error('The page has no #root.');
createRoot(root).render(
  <StrictMode>
    <TextProvider first={await firstWords()}>
      <App />
    </TextProvider>
  </StrictMode>,
);
