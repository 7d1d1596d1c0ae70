/*
 * svg_text.h
 *		Texts of pictures: their widths, and how they are broken into lines.
 */
#ifndef SF_GRAPH_SVG_TEXT_H
#define SF_GRAPH_SVG_TEXT_H

#define SF_GRAPH_MAX_LINES	6

typedef struct SfTextBlock
{
	int			nlines;
	char	   *lines[SF_GRAPH_MAX_LINES];
	int			w;				/* of the longest line, in pixels */
} SfTextBlock;

extern int	sf_graph_text_width(const char *text, int size);
extern void sf_graph_text_wrap(SfTextBlock *block, const char *text, int size,
							   int max_width, int max_lines);

#endif							/* SF_GRAPH_SVG_TEXT_H */
