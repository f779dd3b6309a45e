export const site = {
  title: 'Tilewise: flash attention, taken apart',
  needsScript:
    'Everything on this page is computed in your browser, with JavaScript; nothing is sent anywhere. Please enable JavaScript to continue.',
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
  chapterDocs: 'Documentation on this topic',
  nextChapter: 'Next chapter',
  loading: (title: string): string => `Loading ${title}…`,
  noSuchPage: (name: string): string =>
    `There is no page '${name}'. This is the first page; it lists all chapters.`,
  language: 'Language',
  theme: { light: 'Use the light theme', dark: 'Use the dark theme' },
  boundary: {
    failed: 'This chapter could not be loaded. Are you online?',
    broke: 'This chapter stopped with an error. What you wrote has been saved.',
    again: 'Try again',
  },
};
