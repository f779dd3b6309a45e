import './ui/styles/fonts.css';
import './ui/styles/tokens.css';
import './ui/styles/base.css';
import './ui/styles/layout.css';
import './ui/styles/controls.css';
import './ui/styles/readings.css';
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
