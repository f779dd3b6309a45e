import type { FirstText } from '../../text.ts';

export const home: FirstText['home'] = {
  heading: 'Flash-Attention, auseinandergenommen',
  blurb:
    'Attention vergleicht jedes Wort eines Textes mit jedem anderen: n Wörter, n² Scores. Flash-Attention berechnet sie alle und speichert keinen. Hier findest du heraus, wie, indem du es schreibst: zuerst auf einer Spielzeugmaschine, zuletzt auf deiner eigenen GPU.',
  doors: {
    learn: 'Lernen',
    learnWhy: 'Zehn Kapitel, von drei Registern bis zu einem Transformer, der in dieser Seite lernt.',
    use: 'Benutzen',
    useWhy: 'Attention für WebGPU, vorwärts und rückwärts, als kleine TypeScript-Bibliothek.',
  },
  race: {
    title: 'Speicher, auf deiner Maschine, jetzt',
    start: 'Noch einmal',
    naive: 'Scores gespeichert: n²',
    streaming: 'gestreamt: n',
    axisX: 'Wörter n',
    axisY: 'Speicher',
    running: n => `Beide Wege rechnen mit ${n} Queries und Keys …`,
    result: (n, naive, streaming, times) =>
      `Für n = ${n} hat diese Seite eben ${naive} für Scores und Gewichte belegt, und ${streaming} beim Streamen: ${times}-mal weniger. Beide Ergebnisse stimmen überein.`,
    label: points => `Speicher gegen die Zahl der Wörter. ${points.join('; ')}`,
    point: (n, naive, streaming) => `${n}: ${naive} gespeichert, ${streaming} gestreamt`,
  },
  model: {
    title: 'Ein Modell lernt hinzusehen',
    about:
      'Es sieht Buchstaben mit Ziffern, dann einen Buchstaben noch einmal, und muss die Ziffer finden. Anfangs rät es: 10 % richtig.',
    start: 'Lernen lassen',
    pause: 'Pause',
    resume: 'Weiter',
    step: 'Schritt',
    right: 'Richtig',
    loading: 'Macht sich bereit …',
    more: 'Ein eigenes trainieren',
    map: step => `Wohin ein Kopf nach ${step} Schritten sieht: eine Zeile je Token`,
    curve: share => `Anteil richtiger Antworten bisher; jetzt ${share}`,
  },
  learn: 'Lernen',
  use: 'Benutzen',
  useIntro:
    'Fünf Zeilen, auf deinem eigenen GPU-Gerät, wenn du eines hast. Kein Build-Schritt, keine Abhängigkeit außer den eigenen Paketen; die Dropout-Masken sind Bit für Bit die von PyTorch.',
  install: 'Installieren',
  code: 'Attention, vorwärts',
  docs: 'Dokumentation',
  repository: 'Quelltext',
  evaluate: 'Beurteilen',
  evaluateWhy:
    'Sieh, was der Compiler in einem Graphen findet, und ob die Kernel auf deiner Maschine richtig und schnell sind.',
};
