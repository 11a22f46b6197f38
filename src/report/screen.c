/* SPDX-License-Identifier: MIT */
#include "screen.h"
#include "src/tally/characters.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <wchar.h>

#define COLUMNS_DEFAULT 80
#define COLUMNS_MAX 65535 /* of a terminal */

/* Reads COLUMNS, which shells set. Anything but a number from 1 to COLUMNS_MAX is ignored. */
static unsigned columns_of_environment(void)
{
    const char *text = getenv("COLUMNS");
    unsigned columns = 0;
    for (; text && *text >= '0' && *text <= '9' && columns <= COLUMNS_MAX; text++)
        columns = columns * 10 + (unsigned)(*text - '0');
    return text && !*text && columns > 0 && columns <= COLUMNS_MAX ? columns : COLUMNS_DEFAULT;
}

/* Returns the user's locale if it has UTF-8, or none. It is kept until the process ends. */
static locale_t locale_of_utf8(void)
{
    static locale_t user;
    static bool was_opened;
    if (was_opened)
        return user;
    was_opened = true;
    user = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (user != (locale_t)0 && strcmp(nl_langinfo_l(CODESET, user), "UTF-8") != 0) {
        freelocale(user);
        user = (locale_t)0;
    }
    return user;
}

/* A character that the locale does not know has one column, as a terminal shows something. */
static size_t width_of(uint32_t character)
{
    const int width = wcwidth((wchar_t)character);
    return width < 0 ? 1 : (size_t)width;
}

size_t screen_width(const char *text, size_t left)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t width = 0;
    locale_t utf8 = (locale_t)0, own = (locale_t)0;
    for (size_t len; left > 0; at += len, left -= len) {
        uint32_t character;
        len = character_decode(at, left, &character);
        if (character >= 0x80 && own == (locale_t)0 && (utf8 = locale_of_utf8()) != (locale_t)0)
            own = uselocale(utf8);
        width += utf8 != (locale_t)0 ? width_of(character) : 1;
    }
    if (own != (locale_t)0)
        uselocale(own);
    return width;
}

void screen_prepare(void)
{
    (void)locale_of_utf8();
}

struct screen screen_of(int fd)
{
    struct winsize size = {0};
    bool is_terminal = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return (struct screen){
        .columns = is_terminal ? size.ws_col : columns_of_environment(),
        .rows = is_terminal ? size.ws_row : 0,
        .utf8 = locale_of_utf8() != (locale_t)0,
    };
}
