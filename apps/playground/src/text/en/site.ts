export const site = {
  title: 'Tilewise: flash attention, taken apart',
  needsScript:
    'Everything on this page is computed in your browser, which takes JavaScript; nothing is sent anywhere. Please allow it to go on.',
  skip: 'Skip to the content',
  chapters: 'Chapters',
  chapter: (n: number): string => `Chapter ${n}`,
  evaluators: 'For evaluators',
  done: 'all done',
  tasksDone: (done: number, of: number): string => `${done} of ${of} done`,
  copyChapterLink: 'Copy the link to this chapter',
  copyLink: 'Copy the link to this section',
  copied: 'Copied',
  next: 'Next',
  nextChapter: 'Next chapter',
  loading: (title: string): string => `Loading ${title}…`,
  language: 'Language',
  theme: { light: 'Use the light theme', dark: 'Use the dark theme' },
  boundary: {
    failed: 'This chapter could not be loaded. Is the network there?',
    broke: 'This chapter stopped with an error. What you wrote is kept.',
    again: 'Try again',
  },
};
