import type { Text } from '../../text.ts';

export const overview: Text['overview'] = {
  intro: [
    'Ein Wort allein sagt wenig. Wer war müde in *„The cat that chased the mouse slept because it was very tired“*? Um zu wissen, was „it“ ist, muss ein Modell andere Wörter ansehen. So sieht Attention hin: Jedes Wort fragt jedes andere und nimmt mehr von denen, deren Antwort passt.',
    'Jedes Wort ist ein Vektor. Drei kleine Matrizen machen drei Vektoren daraus: eine *Query* $q$, wonach das Wort sucht; einen *Key* $k$, woran es gefunden wird; und einen *Value* $v$, was es gibt. Wie gut Key $j$ auf Query $i$ antwortet, ist ihr Skalarprodukt, ein *Score* $S_{ij} = q_i \\cdot k_j / \\sqrt d$. Softmax macht aus einer Zeile von Scores Gewichte $P_{ij}$ mit der Summe eins, und das Ergebnis ist der Mittelwert $o_i = \\sum_j P_{ij} v_j$. Für alle Wörter auf einmal:',
  ],
  word: 'Ein Wort fragt alle Wörter',
  wordWhy: [
    'Wähle ein Wort. Seine Query trifft die Keys aller zwölf; je dunkler ein Wort, desto mehr von seinem Value wird genommen. Die Zahlen sind klein genug zum Nachrechnen: Kopfgröße d = 3, und Vektoren, die so erdacht sind, dass etwas Sinnvolles herauskommt. Ein echtes Modell lernt sie; in Kapitel 9 kannst du dabei zusehen.',
  ],
  choose: 'Das Wort, das fragt',
  looks: (word, most, share) => `„${word}“ sieht am meisten auf „${most}“: *${share}*.`,
  table: 'Scores, Gewichte und Werte',
  query: (word, q) => `q von „${word}“ = ${q}`,
  key: 'Key',
  output: 'o = Σⱼ pⱼ · vⱼ',
  all: 'P: jedes Wort (hinab) fragt jedes Wort (quer)',
  allLabel: n => `${n} mal ${n} Gewichte; die Zeile des gewählten Wortes ist umrandet`,
  scale: 'Warum durch √d teilen?',
  scaleWhy: [
    'Ein Skalarprodukt aus d zufälligen Gliedern wächst wie √d. Softmax übertreibt Unterschiede: Bei großen Scores nimmt ein Gewicht alles, und es bleibt nichts, woraus man lernen könnte. Hier sind zufällige Queries und Keys der Kopfgröße d; bewege sie.',
  ],
  headSize: 'Kopfgröße d',
  scaled: 'q·k / √d',
  unscaled: 'q·k',
  largest: (largest, spread) => `größtes Gewicht ${largest}; Scores streuen um ${spread}`,
  square: 'n Wörter, n² Scores',
  squareWhy: [
    'Q, K, V und das Ergebnis haben eine Zeile je Wort. S und P haben eine Zahl je *Paar* von Wörtern. Alle folgenden Kapitel handeln von diesem Quadrat, und davon, mit ihm zu rechnen, ohne es je zu speichern.',
  ],
  words: 'Wörter (n)',
  squareLabel: n => `${n} Wörter und ein Quadrat aus ${n * n} Scores`,
  bytesCaption: 'Bytes für einen Kopf, in 32-Bit-Zahlen mit d = 64',
};
